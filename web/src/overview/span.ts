/** The spans to choose from, in days up to today. The service counts twice the longest. */
export const spans = [7, 30, 90] as const
export type Span = (typeof spans)[number]
export const defaultSpan: Span = 30

export interface OverviewSearch {
  /** Absent: `defaultSpan`. */
  days?: Span | undefined
}

/**
 * Reads an address; an unknown span counts as absent. `days` is always set, because the router keeps what it
 * read itself for a name that is missing.
 */
export function parseOverviewSearch({ days }: Record<string, unknown>): OverviewSearch {
  const span = spans.find((known) => String(known) === String(days))
  return { days: span === defaultSpan ? undefined : span }
}
