// Seedance reads commands such as `--dur 12` in its prompts, and follows them instead of the fields of the request. So they could buy more
// than what was paid for: the shape of Ark reads them as fields, and for all other requests they are refused.

/** The commands, each with the field of Ark's API that it stands for. */
const fieldOfCommand = {
  resolution: 'resolution',
  rs: 'resolution',
  ratio: 'ratio',
  rt: 'ratio',
  duration: 'duration',
  dur: 'duration',
  frames: 'frames',
  framespersecond: 'framespersecond',
  framepersecond: 'framespersecond',
  fps: 'framespersecond',
  seed: 'seed',
  watermark: 'watermark',
  wm: 'watermark',
  camera_fixed: 'camera_fixed',
  camerafixed: 'camera_fixed',
  cf: 'camera_fixed',
} as const;

type Command = keyof typeof fieldOfCommand;

/** Clients also send the names of commands as fields, such as `camerafixed` and `fps`. */
export function arkFieldOfCommand(name: string): string | undefined {
  return Object.entries(fieldOfCommand).find(([command]) => command === name)?.[1];
}

const commands = Object.keys(fieldOfCommand).join('|');

/** The fields of our own request that replace commands. */
const ownFields: readonly string[] = ['resolution', 'ratio', 'duration', 'seed'];

const withValue = new RegExp(String.raw`(?<!\S)--(${commands})\s+(?!--)(\S+)`, 'g');
/** It matches more than vendors document, because a vendor's reading is not known exactly: also a value without a space, as in `--dur12`. */
const anyForm = new RegExp(String.raw`--\s*(${commands})(?![a-z_])`, 'i');

/** Takes the commands with a value out of a prompt. Every other word that begins with `--` stays. */
export function readTextCommands(text: string) {
  const fields = new Map<string, string>();
  const prompt = text.replaceAll(withValue, (_all, name: Command, value: string) => {
    fields.set(fieldOfCommand[name], value);
    return '';
  });
  return { prompt: prompt.trim(), fields };
}

/** Returns why a model that reads commands refuses a prompt; undefined if it has none. */
export function textCommandRefusal(prompt: string): string | undefined {
  // Other forms of the same characters, and characters that are not seen, as a vendor may normalize them.
  const plain = prompt.normalize('NFKC').replaceAll(/\p{Cf}/gu, '');
  const [, name] = anyForm.exec(plain) ?? [];
  if (name === undefined) return undefined;
  const field = fieldOfCommand[name.toLowerCase() as Command]; // the expression matches no other name
  const remedy = ownFields.includes(field) ? `send input.${field} instead` : 'leave it out';
  return `not contain --${name}, which this model reads as a command; ${remedy}`;
}

/** True for an upstream's name of a Seedance. */
export function readsTextCommands(upstreamModel: string): boolean {
  return /seedance/i.test(upstreamModel);
}
