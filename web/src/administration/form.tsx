import { type FormEvent, type ReactNode, useId } from 'react'
import { useDraft, useSaving } from './draft.ts'
import { Refused } from './pieces.tsx'

interface DraftFormProps<Values extends object> {
  title: string
  loaded: Values
  etag: string
  /** Resolves to the tag of the new version. */
  send(values: Values, etag: string): Promise<string>
  /** The fields. */
  children(values: Values, change: (changes: Partial<Values>) => void): ReactNode
}

/** What is known of an account, to be changed field by field and saved at once. */
export function DraftForm<Values extends object>(props: DraftFormProps<Values>) {
  const title = useId()
  const draft = useDraft(props.loaded, props.etag)
  const saving = useSaving(draft, props.send)

  function submit(event: FormEvent) {
    event.preventDefault()
    saving.save()
  }
  return (
    <form className="card card-stack" aria-labelledby={title} onSubmit={submit}>
      <h2 id={title}>{props.title}</h2>
      {props.children(draft.values, draft.change)}
      <Refused failure={saving.error} onLoad={saving.load} />
      <div className="row">
        <button
          ref={saving.button}
          type="submit"
          className="button button-primary"
          aria-disabled={saving.isPending || !draft.isChanged}
        >
          {saving.isPending ? 'Saving …' : 'Save'}
        </button>
      </div>
    </form>
  )
}
