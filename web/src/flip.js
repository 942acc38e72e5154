// From which temperature on a sample passes, searched as tcva_adapters/core/flip.py does.
import { TINY_EXPONENT, exponentAt } from "./kernel.js";

const PROBES = 65;
const AHEAD = 256;

/**
 * The smallest temperature from which on, up to the largest, `passes` holds; null where it does not
 * at the largest. Scores rise with the temperature but for one fall right above exponent 0.
 * @param {(temperature: number) => boolean} passes
 */
export function flipPoint(passes, bounds) {
  const positive = (temperature) => exponentAt(temperature, bounds) >= TINY_EXPONENT;
  // Two pieces on which the score never falls: exponents above 0, and those up to 0.
  let pieces = [[bounds.t_min, bounds.t_max]];
  if (bounds.p_min < TINY_EXPONENT && TINY_EXPONENT <= bounds.p_max) {
    const edge = settles(positive, bounds.t_min, bounds.t_max);
    pieces = [[edge, bounds.t_max], [bounds.t_min, before(edge)]];
  }
  let found = null;
  for (const [start, end] of pieces) {
    if (!passes(end)) break;
    found = settles(passes, start, end);
    if (found > start) break;
  }
  return found;
}

/** The float in [low, high] from which on `holds` does, given that it does at `high`. */
function settles(holds, low, high) {
  const end = high;
  for (;;) {
    const probes = spread(low, high);
    const failing = probes.findLastIndex((probe) => !holds(probe));
    if (failing < 0) return low;
    [low, high] = [probes[failing], probes[failing + 1]];
    if (probes.length === 2) break;
  }
  // The very next floats one by one: there the last bit wavers, and probes skip most of them.
  const step = spacing(high);
  const ahead = Array.from({ length: AHEAD }, (_, i) => Math.min(high + step * i, end));
  const failing = ahead.findLastIndex((probe) => !holds(probe));
  return failing < 0 ? high : ahead[failing + 1];
}

/** Evenly spaced numbers from low to high, both included, without repetition. */
function spread(low, high) {
  const step = (high - low) / (PROBES - 1);
  const probes = Array.from({ length: PROBES }, (_, i) => i * step + low);
  probes[PROBES - 1] = high;
  return probes.sort((a, b) => a - b).filter((probe, i) => i === 0 || probe !== probes[i - 1]);
}

const FLOAT = new Float64Array(1);
const BITS = new BigInt64Array(FLOAT.buffer);

/** A number's neighbour so many floats away from 0. */
function moved(value, floats) {
  FLOAT[0] = value;
  BITS[0] += floats;
  return FLOAT[0];
}

/** The distance of a number to the next one away from 0. */
function spacing(value) {
  return Math.abs(moved(value, 1n) - value);
}

/** The next smaller number. */
function before(value) {
  if (value === 0) return -Number.MIN_VALUE;
  return moved(value, value > 0 ? -1n : 1n);
}
