import { Button } from 'react-aria-components/Button'

/** Says that a form holds what was typed earlier. */
export function Restored({ words, onStartOver }: { words: string; onStartOver(): void }) {
  return (
    <p className="row row-between soft" role="status">
      {words}
      <Button className="button button-quiet button-small" onPress={onStartOver}>
        Start over
      </Button>
    </p>
  )
}
