/** Every string of the palette and the list of shortcuts. */
export const keyboardText = {
  palette: {
    title: 'Go to',
    label: 'Page, account or task ID',
    results: 'Results',
    none: 'No results. To find a task, enter at least 4 characters of its ID.',
    task: (id: string) => `Task ${id}`,
    tasksWith: (part: string) => `Tasks whose ID contains ${part}`,
    taskGroup: 'Task',
    account: (id: string) => `Account ${id}`,
    accountsWith: (text: string) => `Accounts whose name begins with ${text}`,
    accountGroup: 'Account',
    searchGroup: 'Search',
  },
  shortcuts: {
    title: 'Keyboard shortcuts',
    palette: 'Go to a page or a task',
    search: 'Search in the list',
    generate: 'Generate, in the playground',
    playback: 'Play, seek and unmute compared videos',
  },
} as const;
