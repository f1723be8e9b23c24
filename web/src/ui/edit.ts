import { readDraft, type UserId, useDraft } from './draft.ts'

interface Own<Value> {
  value: Value
  /** The state that the person saw when they began, and its version. */
  seen: string
  etag: string
}

/** The same for the same content, in whatever order its members are. */
function spelled(content: object): string {
  return JSON.stringify(content, (_, value) =>
    value instanceof Object && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort())
      : value,
  )
}

/**
 * A draft of something that is loaded with a version. A newer version with the same content, as after a press
 * on the switch of an account, does not conflict with it.
 */
export function useEdit<Value extends object>(
  place: string,
  userId: UserId,
  loaded: Value,
  loadedEtag: string,
) {
  const draft = useDraft<Own<Value>>(place, userId)
  const text = spelled(loaded)
  const own = draft.value && spelled(draft.value.value) !== text ? draft.value : undefined
  const etag = own && own.seen !== text ? own.etag : loadedEtag
  return {
    value: own?.value ?? loaded,
    etag,
    isChanged: own !== undefined,
    change: (value: Value) => draft.keep({ value, seen: own?.seen ?? text, etag }),
    drop: draft.drop,
    /** Text typed after the request was sent stays. */
    saved(sent: Value, next: string) {
      const now = readDraft<Own<Value>>(place, userId)
      if (now === undefined || now.value === sent) draft.drop()
      else draft.keep({ ...now, seen: spelled(sent), etag: next })
    },
  }
}
