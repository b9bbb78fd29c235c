/** Every text about the announcement of operators. */
export const announcementText = {
  button: 'Announcement',
  title: 'Publish an announcement',
  help: 'Appears at the top of every page within a minute, for everyone who is signed in.',
  text: 'Text',
  left: (characters: number) => `${characters} left`,
  level: 'Level',
  levels: { info: 'Info', warning: 'Warning' },
  link: 'Link',
  linkHint: 'Optional, such as your status page.',
  ends: 'Ends',
  endsHint: 'Optional. Otherwise it stays until you remove it.',
  publish: 'Publish',
  published: 'Announcement published',
  remove: 'Remove',
  removed: 'Announcement removed',
} as const;
