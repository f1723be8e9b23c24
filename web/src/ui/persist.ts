/** Named texts that survive a reload. A text that storage refuses lasts as long as this page. */
interface Shelf {
  read(name: string): string | null
  /** Whether it survives a reload. */
  write(name: string, text: string): boolean
  drop(name: string): void
  /** All names with this beginning. */
  names(beginning: string): string[]
}

/** For all tabs and later visits: choices. */
export const inBrowser = shelf(() => localStorage)
/** For this tab until it is closed. */
export const inTab = shelf(() => sessionStorage)

/** The name under which something is kept for one person. */
export const personal = (name: string, userId: number | string) => `${name}.${userId}`

const prefix = 'countersign.'

function shelf(storage: () => Storage): Shelf {
  const refused = new Map<string, string>()
  return {
    read: (name) => refused.get(name) ?? attempt(() => storage().getItem(prefix + name)) ?? null,
    write(name, text) {
      refused.set(name, text)
      attempt(() => {
        storage().setItem(prefix + name, text)
        refused.delete(name)
      })
      return !refused.has(name)
    },
    drop(name) {
      refused.delete(name)
      attempt(() => storage().removeItem(prefix + name))
    },
    names(beginning) {
      const stored = attempt(() => Object.keys(storage())) ?? []
      const own = stored.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length))
      return [...new Set([...own, ...refused.keys()])].filter((name) => name.startsWith(beginning))
    },
  }
}

/** The value of a text that was written as JSON; another version of the app may have written it. */
export function parsed(text: string | null): unknown {
  return attempt((): unknown => JSON.parse(text ?? 'null')) ?? undefined
}

/** Undefined if the browser forbids it, or has no room. */
function attempt<Value>(act: () => Value): Value | undefined {
  try {
    return act()
  } catch {
    return undefined
  }
}
