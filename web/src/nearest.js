/**
 * The few items with the least keys, in their order: of many items only these are sorted.
 * @template T
 * @param {T[]} items
 * @param {(item: T) => number} key
 * @param {number} most
 * @returns {T[]}
 */
export function least(items, key, most) {
  const keys = Float64Array.from(items, key);
  const limit = keys.length > most ? keys.slice().sort()[most - 1] : Infinity;
  const near = [];
  keys.forEach((value, i) => {
    if (value <= limit) near.push({ item: items[i], value });
  });
  // Not a difference: of two infinite keys there is none.
  near.sort((a, b) => (a.value < b.value ? -1 : Number(a.value > b.value)));
  return near.slice(0, most).map(({ item }) => item);
}
