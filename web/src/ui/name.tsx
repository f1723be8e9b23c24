import { withoutReordering } from './isolate.ts'

/** A name in any script, which leaves the words around it in order. */
export function Name({ of, className }: { of: string; className?: string }) {
  return <bdi className={className}>{withoutReordering(of)}</bdi>
}
