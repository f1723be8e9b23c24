import type { useRouter } from '@tanstack/react-router'

type Router = ReturnType<typeof useRouter>

/** The order that was opened last, and the entry of the history that it was opened from. */
let opened: { id: string; entry: string | undefined } | undefined

export function open(id: string, router: Router): void {
  opened = { id, entry: entryOf(router) }
}

/** The order that was opened from this entry of the history, if any. */
export function openedFrom(router: Router): string | undefined {
  return opened?.entry === entryOf(router) ? opened?.id : undefined
}

function entryOf(router: Router): string | undefined {
  return router.latestLocation.state.__TSR_key
}
