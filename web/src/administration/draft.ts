import { useMutation } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { announce } from '../ui/announce.ts'

interface Own<Values> {
  values: Values
  /** What the person saw when they began, and its version. */
  seen: string
  etag: string
}

const textOf = (values: object) => JSON.stringify(values)

/**
 * What the fields hold: the person's own values once they changed one, else those of the account. A newer
 * version with the same fields, as after a press on the switch, does not stand in their way.
 */
export function useDraft<Values extends object>(loaded: Values, loadedEtag: string) {
  const [own, setOwn] = useState<Own<Values>>()
  const text = textOf(loaded)
  if (own && textOf(own.values) === text) setOwn(undefined)
  const { values, etag } =
    own && own.seen !== text ? own : { values: own?.values ?? loaded, etag: loadedEtag }
  return {
    values,
    etag,
    isChanged: own !== undefined,
    change(next: Values) {
      setOwn((known = { values: loaded, seen: text, etag }) => ({ ...known, values: next }))
    },
    drop: () => setOwn(undefined),
    /** Text typed after the request left stays. */
    saved(sent: Values, next: string) {
      setOwn((known) =>
        known && known.values !== sent ? { ...known, seen: textOf(sent), etag: next } : undefined,
      )
    },
  }
}

type Draft<Values extends object> = ReturnType<typeof useDraft<Values>>

/**
 * `send` resolves to the tag of the new version. `load` drops what was typed and shows the current version.
 */
export function useSaving<Values extends object>(
  draft: Draft<Values>,
  send: (values: Values, etag: string) => Promise<string>,
) {
  const button = useRef<HTMLButtonElement>(null)
  const saving = useMutation({
    mutationFn: ({ values, etag }: Draft<Values>) => send(values, etag),
    onSuccess(etag, { values }) {
      draft.saved(values, etag)
      announce('Changes saved')
    },
  })
  return {
    ...saving,
    button,
    save() {
      if (draft.isChanged && !saving.isPending) saving.mutate(draft)
    },
    load() {
      draft.drop()
      saving.reset()
      // The pressed button is gone.
      button.current?.focus()
      announce('Current version loaded')
    },
  }
}
