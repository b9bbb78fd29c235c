/** Shows the dialog that asks for the password; set by that dialog. Rejects when the person closes it. */
type Ask = () => Promise<void>;

let ask: Ask = () => Promise.reject(new Error('nothing asks for the password'));

export function onConfirmPerson(shown: Ask): void {
  ask = shown;
}

/** Some acts need a person who proved within minutes who they are. */
export function confirmPerson(): Promise<void> {
  return ask();
}
