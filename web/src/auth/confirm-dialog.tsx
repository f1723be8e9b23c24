import { Button } from 'react-aria-components/Button'
import { client, onRecentSignInNeeded } from '../api/client.ts'
import { EndNote } from '../ui/failure.tsx'
import { ModalDialog } from '../ui/modal.tsx'
import { observable } from '../ui/observable.ts'
import { useAction } from './action.ts'
import { companyName, confirmByCompany, hasCompanyAccount } from './company.ts'
import { confirmationOptions, touch } from './passkeys.ts'
import { ProofForm } from './proof.tsx'
import { onForget } from './session.ts'

/** While the service waits for the person: `settle` reports whether they confirmed. */
interface Asking {
  /** For a person who has a passkey. */
  options: Awaited<ReturnType<typeof confirmationOptions>>
  /** Whether the person has linked a company account. */
  isLinked: boolean
  settle(isGiven: boolean): void
}

const asking = observable<Asking | undefined>(undefined)

let asked: Promise<boolean> | undefined

/** Requests that need it at the same time wait for the same answer. */
function askForPassword(): Promise<boolean> {
  asked ??= ask().finally(() => {
    asked = undefined
    asking.set(undefined)
  })
  return asked
}

async function ask(): Promise<boolean> {
  const [options, isLinked] = await Promise.all([confirmationOptions(), hasCompanyAccount()])
  return new Promise((settle) => asking.set({ options, isLinked, settle }))
}

onRecentSignInNeeded(askForPassword)
onForget(() => asking.get()?.settle(false))

/**
 * Asks for a passkey or the password when a request needs a recent sign-in. If it is given, the request is
 * sent again, and the view that sent it only notices a delay. Otherwise the request is refused.
 */
export function ConfirmDialog() {
  const open = asking.use()
  if (open === undefined) return null
  return (
    <ModalDialog
      title="Confirm it’s you"
      isOpen
      onOpenChange={() => open.settle(false)}
      isDismissable={false}
    >
      <ConfirmForm {...open} />
    </ModalDialog>
  )
}

function ConfirmForm({ options, isLinked, settle }: Asking) {
  const leaving = useAction(confirmByCompany)
  // Asks for new options, because the dialog may have been open for a long time.
  const give = async (first: NonNullable<typeof options>) => touch((await confirmationOptions()) ?? first)
  return (
    <ProofForm
      passkey={options && { isKnown: true, give: () => give(options) }}
      send={async (given) => {
        await client.POST('/v1/auth/session/confirm', { body: given })
        settle(true)
      }}
      labels={['Confirm', 'Checking …']}
      aside={
        <Button className="button" onPress={() => settle(false)}>
          Cancel
        </Button>
      }
    >
      <p>
        {options ? 'Use your passkey' : isLinked ? `Confirm with ${companyName}` : 'Enter your password'}
        {(options || isLinked) && ' or enter your password'} to continue. You won’t be asked again for five
        minutes.
      </p>
      {isLinked && (
        <Button className="button" onPress={() => leaving.act()}>
          Confirm with {companyName}
        </Button>
      )}
      <div role="status">{leaving.error != null && <EndNote failure={leaving.error} />}</div>
    </ProofForm>
  )
}
