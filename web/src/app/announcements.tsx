import { toasts } from '../ui/announce.ts'

/**
 * The place where announcements appear. It is always there: screen readers watch it for changes. No dialog hides it, as
 * React Aria does with all else outside of one.
 */
export function Announcements() {
  const shown = toasts.use()
  return (
    <div className="toasts stack gap-2 no-print" role="status" aria-live="polite" data-react-aria-top-layer>
      {shown.map(({ id, text }) => (
        <div key={id} className="toast">
          {text}
        </div>
      ))}
    </div>
  )
}
