/** Characters that change the order of what follows. New names have none; older ones may. */
const reordering = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

export function withoutReordering(name: string): string {
  return name.replace(reordering, '')
}

/** A name for plain text, such as a title: the words around it stay in order. */
export function isolated(name: string): string {
  return `\u2068${withoutReordering(name)}\u2069`
}
