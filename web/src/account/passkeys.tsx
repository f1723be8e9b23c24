import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from 'react-aria-components/Button'
import { useAction } from '../auth/action.ts'
import { type Passkey, PasskeyList } from '../auth/passkey-list.tsx'
import { knowsPasskeys, touchFailure } from '../auth/passkeys.ts'
import { browserOf } from '../auth/user-agent.ts'
import { announce } from '../ui/announce.ts'
import { EndNote } from '../ui/failure.tsx'
import { Form, Submit } from '../ui/form.tsx'
import { Input } from '../ui/input.tsx'
import { ModalDialog } from '../ui/modal.tsx'
import { Note } from '../ui/note.tsx'
import { addPasskey, passkeysQuery, removePasskey, removePassword, renamePasskey } from './queries.ts'

/** The person's own passkeys: add, rename, remove; and removing the password they replace. */
export function OwnPasskeys({ hasPassword }: { hasPassword: boolean }) {
  const found = useQuery(passkeysQuery)
  const [renamed, setRenamed] = useState<Passkey>()
  const adding = useAction(addPasskey, () => announce('Passkey added. You can sign in with it.'))
  const removing = useAction(removePassword, () =>
    announce('Your password has been removed. You are signed out everywhere else.'),
  )
  const failure = adding.error ?? removing.error
  const why = touchFailure(failure)
  return (
    <PasskeyList found={found} remove={removePasskey} onRename={setRenamed}>
      <p className="soft">
        {knowsPasskeys
          ? 'A passkey signs you in with one touch, and cannot be phished.'
          : 'This browser cannot use passkeys. Browsers released since March 2025 can.'}
      </p>
      <div role="status">
        {why !== undefined && <Note kind="warning">{why}</Note>}
        {why === undefined && failure != null && <EndNote failure={failure} />}
      </div>
      <div className="row">
        {knowsPasskeys && (
          <Button className="button" onPress={() => adding.act(browserOf(navigator.userAgent) ?? 'Passkey')}>
            Add a passkey
          </Button>
        )}
        {hasPassword && found.data !== undefined && found.data.length > 0 && (
          <Button className="button" onPress={() => removing.act()}>
            Remove your password
          </Button>
        )}
      </div>
      {renamed && <RenameDialog passkey={renamed} onClose={() => setRenamed(undefined)} />}
    </PasskeyList>
  )
}

function RenameDialog({ passkey, onClose }: { passkey: Passkey; onClose(): void }) {
  const [name, setName] = useState(passkey.name)
  const renaming = useAction(renamePasskey, onClose)
  return (
    <ModalDialog title="Rename the passkey" isOpen onOpenChange={onClose}>
      <Form className="stack" onSubmit={() => renaming.act({ id: passkey.id, name })}>
        <Input
          label="Name"
          value={name}
          maxLength={64}
          missing="Enter a name."
          autoFocus
          onChange={({ target }) => setName(target.value)}
        />
        <div role="alert">{renaming.error && <EndNote failure={renaming.error} />}</div>
        <div className="row dialog-actions">
          <Button className="button" onPress={onClose}>
            Cancel
          </Button>
          <Submit isClosed={renaming.isPending}>Rename</Submit>
        </div>
      </Form>
    </ModalDialog>
  )
}
