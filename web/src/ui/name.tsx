import { withoutReordering } from '../../../rules/isolate.ts'

function Printed({ is, name }: Pick<WhoProps, 'is' | 'name'>) {
  if (name == null) return <Name of={is} />
  return (
    <>
      <Name of={name} /> (<Name of={is} />)
    </>
  )
}

/** A name in any script. The words around it stay in order. */
export function Name({ of, className }: { of: string; className?: string }) {
  return <bdi className={className}>{withoutReordering(of)}</bdi>
}

interface WhoProps {
  is: string
  /** The name as it is printed. */
  name?: string | null | undefined
  for?: string | null | undefined
  forName?: string | null | undefined
}

/** Such as "Bo Lind (bo)" or, in the place of an absent person, "bo for ann". */
export function Who({ is, name, for: absent, forName }: WhoProps) {
  return (
    <>
      <Printed is={is} name={name} />
      {absent != null && (
        <>
          {' '}
          for <Printed is={absent} name={forName} />
        </>
      )}
    </>
  )
}
