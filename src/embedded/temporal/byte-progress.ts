const everyMs = 1_000;

/** Counts bytes and says how far a download is, about once a second. Takes the bytes just received; answers the sum. */
export function byteProgress(totalBytes: number, log: (message: string) => void): (bytes: number) => number {
  let sum = 0;
  let saidAt = Date.now();
  return (bytes) => {
    sum += bytes;
    if (Date.now() - saidAt >= everyMs) {
      saidAt = Date.now();
      log(`${megabytes(sum)}${totalBytes > 0 ? ` of ${megabytes(totalBytes)}` : ''} received.`);
    }
    return sum;
  };
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
