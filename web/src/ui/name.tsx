import { withoutReordering } from './isolate.ts'

/** A name as people gave it: whatever its script, the words around it stay in their order. */
export function Name({ of, className }: { of: string; className?: string }) {
  return <bdi className={className}>{withoutReordering(of)}</bdi>
}
