/** A word, with a form and a colour that say the same. */
export function Sign({ word, className }: { word: string; className: string }) {
  return <span className={`status sign ${className}`}>{word}</span>
}
