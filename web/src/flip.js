// From which temperature on a sample passes, searched as tcva_adapters/core/flip.py does but for
// its last digits.
import { TINY_EXPONENT, exponentAt } from "./kernel.js";

const PROBES = 65;
/** How far the answer may lie above the library's. */
const CLOSE = 1e-9;

/**
 * The smallest temperature from which on, up to the largest, `passes` holds; null where it does not
 * at the largest. Scores rise with the temperature but for one fall right above exponent 0.
 * @param {(temperature: number) => boolean} passes
 */
export function flipPoint(passes, bounds) {
  let found = null;
  for (const [start, end] of pieces(bounds)) {
    if (!passes(end)) break;
    found = edge(passes, start, end, CLOSE)[1];
    if (found > start) break;
  }
  return found;
}

/** The parts on which a score never falls, the upper one first: exponents above 0, and those up to 0. */
function pieces(bounds) {
  const { p_min, p_max, t_min, t_max } = bounds;
  if (!(p_min < TINY_EXPONENT && TINY_EXPONENT <= p_max)) return [[t_min, t_max]];
  const positive = (temperature) => exponentAt(temperature, bounds) >= TINY_EXPONENT;
  const [last, first] = edge(positive, t_min, t_max, 0);
  return [[first, t_max], [t_min, last]];
}

/** The temperature where the floor under the weights may end and a score with a `none` fall; null for none. */
export function cliff(bounds) {
  const parts = pieces(bounds);
  return parts.length > 1 ? parts[0][0] : null;
}

/** Two neighbours: `holds` fails at the first and holds from the second up to `high`. */
function edge(holds, low, high, width) {
  for (;;) {
    const probes = spread(low, high);
    const failing = probes.findLastIndex((probe) => !holds(probe));
    if (failing < 0) return [null, low];
    [low, high] = [probes[failing], probes[failing + 1]];
    if (probes.length === 2 || high - low <= width) return [low, high];
  }
}

/** Evenly spaced numbers from low to high, both included, without repetition. */
function spread(low, high) {
  const step = (high - low) / (PROBES - 1);
  const probes = Array.from({ length: PROBES }, (_, i) => Math.min(i * step + low, high));
  probes[PROBES - 1] = high;
  return probes.filter((probe, i) => i === 0 || probe !== probes[i - 1]);
}
