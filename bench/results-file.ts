import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';

export const heading = '# How fast, beside what the same machine does without us';

const introduction =
  'Every row stands beside a floor that was measured in the same run on the same servers, in turns; figures are medians of ' +
  'three rounds. **All of it shares the cores named below: the load, the service, Temporal and PostgreSQL**, so absolute ' +
  'figures say what is left over for one part beside the others.';

const picture = '![What one client waits for as the database grows](growth.svg)';

/**
 * The report of one command. Its title is the command line, which identifies
 * the section in the file.
 */
export type Section = { readonly title: string; readonly text: string };

/** Returns the whole report as Markdown. */
export function reportOf(sections: readonly Section[]): string {
  const parts = sections.map(({ title, text }) => `## \`${title}\`\n\n${text}`);
  return `${[heading, introduction, picture, ...parts].join('\n\n')}\n`;
}

/**
 * Replaces the section of this command in the file, and leaves the sections of
 * other commands unchanged.
 */
export async function keepSection(file: string, section: Section): Promise<void> {
  const kept = sectionsOf(await readFile(file, 'utf8').catch(() => ''));
  const isKnown = kept.some(({ title }) => title === section.title);
  const sections = isKnown ? kept.map((old) => (old.title === section.title ? section : old)) : [...kept, section];
  await writeFile(file, reportOf(sections));
  await format(file);
}

export function sectionsOf(report: string): readonly Section[] {
  const [, ...parts] = report.split(/^## `/m);
  return parts.map((part) => {
    const end = part.indexOf('`\n');
    return { title: part.slice(0, end), text: part.slice(end + 2).trim() };
  });
}

/** Formats the file, because the check of the repository includes it. */
async function format(file: string): Promise<void> {
  await promisify(execFile)('npx', ['--no', 'oxfmt', file]);
}
