/** The button that had the focus may be gone by then. */
export const later = (act: () => void) => setTimeout(act, 50)

/** Call it when the focused button is about to go. */
export const keepFocus = () => later(() => focusIfLost(document.getElementById('main')))

/** Focuses the heading if the focused button is gone. Someone else's action may have removed it. */
export function focusIfLost(view: HTMLElement | null): void {
  if (document.activeElement === document.body) view?.querySelector('h1')?.focus({ preventScroll: true })
}
