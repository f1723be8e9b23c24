import { type ReactNode, type Ref, useId } from 'react'

interface SectionProps {
  title: string
  /** For a heading that takes the focus. */
  headingRef?: Ref<HTMLHeadingElement>
  /** At the end of the heading's line. */
  aside?: ReactNode
  className?: string
  isBusy?: boolean
  children: ReactNode
}

export function Section({ title, headingRef, aside, className = '', isBusy, children }: SectionProps) {
  const id = useId()
  return (
    <section className={`card card-stack ${className}`} aria-labelledby={id} aria-busy={isBusy}>
      <div className="row row-between">
        <h2 ref={headingRef} id={id} tabIndex={headingRef ? -1 : undefined}>
          {title}
        </h2>
        {aside}
      </div>
      {children}
    </section>
  )
}
