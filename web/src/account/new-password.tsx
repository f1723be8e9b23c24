import { useEffect, useState } from 'react'
import { newPasswordFault } from '../../../rules/new-password.ts'
import { Check } from '../ui/check.tsx'
import { Spoken } from '../ui/spoken.tsx'

interface NewPasswordProps {
  value: string
  /** Names of the account. The password should not consist of them. */
  names: readonly string[]
  /** Why the service refused this password. */
  refusal?: string | undefined
  onChange(value: string): void
}

/** The field of a new password, judged while it is typed. */
export function NewPassword({ value, names, refusal, onChange }: NewPasswordProps) {
  const [isShown, setShown] = useState(false)
  const [isMissing, setMissing] = useState(false)
  const verdict = useVerdict(value, names)
  const fault = refusal ?? (isMissing ? 'Enter a new password.' : undefined)
  const message = fault === undefined ? wordsFor(value, verdict) : { text: fault, isBad: true }
  return (
    <div className="field">
      <label htmlFor="new-password">New password</label>
      <input
        id="new-password"
        name="new-password"
        type={isShown ? 'text' : 'password'}
        autoComplete="new-password"
        spellCheck={false}
        autoCapitalize="none"
        maxLength={512}
        required
        value={value}
        aria-invalid={fault !== undefined}
        aria-describedby="new-password-verdict"
        onInvalid={() => setMissing(true)}
        onChange={({ target }) => {
          setMissing(false)
          onChange(target.value)
        }}
      />
      <p id="new-password-verdict" className={message.isBad ? 'field-error' : 'field-hint'}>
        {message.text}
      </p>
      <Spoken text={fault ?? (verdict === undefined ? '' : message.text)} />
      <Check isOn={isShown} onTurn={setShown}>
        Show password
      </Check>
    </div>
  )
}

const shortest = 15

/** Undefined until known. */
type Verdict = { isGood: true } | { isGood: false; why: string } | undefined

function wordsFor(value: string, verdict: Verdict): { text: string; isBad: boolean } {
  const missing = shortest - [...value].length
  if (value === '')
    return {
      text: `At least ${shortest} characters, such as a few unrelated words.`,
      isBad: false,
    }
  if (missing > 0)
    return { text: missing === 1 ? 'One more character' : `${missing} more characters`, isBad: false }
  if (verdict === undefined) return { text: 'Checking …', isBad: false }
  if (verdict.isGood) return { text: 'Good: hard to guess.', isBad: false }
  return { text: `It ${verdict.why}.`, isBad: true }
}

/** Judging takes a moment, so it waits for a pause in typing. */
const pauseMilliseconds = 250

function useVerdict(value: string, names: readonly string[]): Verdict {
  const [judged, setJudged] = useState<{ value: string; verdict: Verdict }>()
  const known = names.join('\n')
  useEffect(() => {
    if ([...value].length < shortest) return undefined
    let isOver = false
    const timer = setTimeout(async () => {
      const why = await newPasswordFault(value, known.split('\n'))
      if (!isOver)
        setJudged({ value, verdict: why === undefined ? { isGood: true } : { isGood: false, why } })
    }, pauseMilliseconds)
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [value, known])
  return judged?.value === value ? judged.verdict : undefined
}
