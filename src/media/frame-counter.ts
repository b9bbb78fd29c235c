/** A report is a handful of short lines; a longer rest without a line break is not one. */
const longestLineCharacters = 1024;

/** Reads the `frame=N` lines of ffmpeg's `-progress` output from chunks that may break anywhere. */
export function frameCounter(onFrame: (frames: number) => void): (chunk: string) => void {
  let rest = '';
  return (chunk) => {
    const lines = (rest + chunk).split('\n');
    rest = (lines.pop() ?? '').slice(-longestLineCharacters);
    for (const line of lines) {
      const frames = /^frame=\s*(\d+)/.exec(line)?.[1];
      if (frames !== undefined) onFrame(Number(frames));
    }
  };
}
