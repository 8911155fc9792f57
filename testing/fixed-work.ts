/**
 * Work that takes 8 ms of processor time on the machine of docs/proof.md while nothing else runs there: it parses,
 * sorts, joins and prints, as servers do. What it takes elsewhere says how slow a machine is now.
 */
export const fixedWorkMs = 8;

export function fixedWork(): number {
  let sum = 0;
  for (let round = 0; round < 8; round++) {
    const rows = JSON.parse(text) as typeof table;
    rows.sort((a, b) => (a.id < b.id ? -1 : 1));
    const byId = new Map(rows.map((row) => [row.id, row]));
    for (const [id, row] of byId) sum += id.length + row.list.length;
    sum += JSON.stringify(rows).length;
  }
  return sum;
}

const table = Array.from({ length: 2000 }, (_, row) => ({
  id: `key-${(row * 7919) % 2000}`,
  list: [row, row * 2, row * 3],
}));
const text = JSON.stringify(table);
