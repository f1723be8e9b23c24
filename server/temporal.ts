/**
 * Time zones and days, as ECMAScript has them. Node 26 has them built in; Node 24 takes a package, which is
 * loaded there only.
 */
export const { Temporal } = 'Temporal' in globalThis ? globalThis : await import('temporal-polyfill')
