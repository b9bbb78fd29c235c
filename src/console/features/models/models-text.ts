// Names of the input fields of models and of their values. Fields that are newer than this code get a label made from their name.

const ratioWords: Readonly<Record<string, string>> = { adaptive: 'Auto' };

const fieldWords: Readonly<Record<string, string>> = {
  duration: 'Length',
  ratio: 'Aspect ratio',
  generateAudio: 'Sound',
  imageUrls: 'Reference images',
  videoUrls: 'Reference videos',
  audioUrls: 'Reference audio',
};

/** The label of a field of `input`: `cameraFixed` is "Camera fixed". */
export function fieldWord(name: string): string {
  const words = name.replace(/Urls?$/, '').replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return fieldWords[name] ?? words.charAt(0).toUpperCase() + words.slice(1);
}

/** A value of a field, other than a URL. */
export function valueWord(name: string, value: unknown): string {
  if (typeof value === 'boolean') return value ? 'On' : 'Off';
  const text = String(value);
  return name === 'duration' ? `${text}\u00A0s` : (ratioWords[text] ?? text);
}
