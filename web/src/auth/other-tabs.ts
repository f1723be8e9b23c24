/**
 * The other tabs of this browser, which share the session. They may run another version of the app, so
 * unknown messages are ignored.
 */
export interface SessionLife {
  /** By the clock of this browser, milliseconds since 1970. */
  idleEndsAt: number
  endsAt: number
  /** When the answer came. */
  heardAt: number
}

type Message =
  /** A tab sends a sign-in, of anyone. Afterwards the cookie may be theirs. */
  | { kind: 'signing-in' }
  | { kind: 'signed-in' }
  | { kind: 'not-signed-in' }
  | { kind: 'signed-out' }
  /** A tab was refused: the session may be over for all. */
  | { kind: 'refused' }
  | { kind: 'life'; life: SessionLife }
  /** Orders were created or approved. */
  | { kind: 'changed' }

const channel = new BroadcastChannel('countersign')

export function tellOtherTabs(message: Message): void {
  channel.postMessage(message)
}

type Handlers = { [Kind in Message['kind']]?: (message: Extract<Message, { kind: Kind }>) => void }

export function listenToOtherTabs(handlers: Handlers): void {
  channel.addEventListener('message', ({ data }: MessageEvent<Message | null>) => {
    if (typeof data !== 'object' || data === null || !Object.hasOwn(handlers, data.kind)) return
    const handle = handlers[data.kind] as (message: Message) => void
    if (data.kind !== 'life' || isLife(data.life)) handle(data)
  })
}

function isLife(value: unknown): value is SessionLife {
  if (typeof value !== 'object' || value === null) return false
  const { idleEndsAt, endsAt, heardAt } = value as Record<string, unknown>
  return [idleEndsAt, endsAt, heardAt].every(Number.isFinite)
}
