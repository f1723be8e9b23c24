/** They make what follows them read in another order; new names have none, older ones may. */
const reordering = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** A name as people gave it: whatever its script, the words around it stay in their order. */
export function Name({ of, className }: { of: string; className?: string }) {
  return <bdi className={className}>{of.replace(reordering, '')}</bdi>
}
