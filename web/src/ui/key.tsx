/** The keyboard shortcut of a button, shown on the button. */
export function Key({ name }: { name: string }) {
  return (
    <span className="button-key" aria-hidden="true">
      {name}
    </span>
  )
}
