/** Always an address within this app (ASVS 5.0 3.7.2: no open redirect). */
export function innerAddress(value: unknown): string {
  if (typeof value !== 'string' || !URL.canParse(value, location.origin)) return '/'
  const { origin, pathname, search } = new URL(value, location.origin)
  return origin === location.origin ? pathname + search : '/'
}
