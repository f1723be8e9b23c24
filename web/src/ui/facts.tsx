import { Fragment, type ReactNode } from 'react'

/** Terms and their values; a term whose value is null or undefined is left out. */
export function Facts({ of, className = '' }: { of: Record<string, ReactNode>; className?: string }) {
  return (
    <dl className={`facts ${className}`}>
      {Object.entries(of).map(
        ([term, value]) =>
          value != null && (
            <Fragment key={term}>
              <dt>{term}</dt>
              <dd>{value}</dd>
            </Fragment>
          ),
      )}
    </dl>
  )
}
