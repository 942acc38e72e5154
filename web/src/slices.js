/** Long work in short slices, so that the page stays awake. */

const SLICE = 12;

/**
 * Runs a generator to its end, a few milliseconds at a time.
 * @template T
 * @param {Generator<unknown, T>} steps
 * @param {(result: T) => void} onDone
 * @returns {() => void} stops it
 */
export function inSlices(steps, onDone) {
  let timer = setTimeout(run, 0);
  function run() {
    const end = performance.now() + SLICE;
    while (performance.now() < end) {
      const { done, value } = steps.next();
      if (done) {
        onDone(value);
        return;
      }
    }
    timer = setTimeout(run, 0);
  }
  return () => clearTimeout(timer);
}
