import { Fragment, type ReactNode } from 'react'

/** Terms and their values; a term whose value is null or undefined is left out. */
export function Facts({ of }: { of: Record<string, ReactNode> }) {
  return (
    <dl className="facts">
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
