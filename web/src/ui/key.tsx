/** Shows on a button the key that does the same. */
export function Key({ name }: { name: string }) {
  return (
    <span className="button-key" aria-hidden="true">
      {name}
    </span>
  )
}
