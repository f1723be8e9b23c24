import { withoutReordering } from '../../../rules/isolate.ts'

/** A name in any script. The words around it stay in order. */
export function Name({ of, className }: { of: string; className?: string }) {
  return <bdi className={className}>{withoutReordering(of)}</bdi>
}

/** Such as "bo" or, in the place of an absent person, "bo for ann". */
export function Who({ is, for: absent }: { is: string; for?: string | null | undefined }) {
  return (
    <>
      <Name of={is} />
      {absent != null && (
        <>
          {' '}
          for <Name of={absent} />
        </>
      )}
    </>
  )
}
