import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from 'react-aria-components/Button'
import { useAction } from '../../auth/action.ts'
import { announce } from '../../ui/announce.ts'
import { ModalDialog } from '../../ui/modal.tsx'
import { Section } from '../../ui/section.tsx'
import { Refused } from '../pieces.tsx'
import { forgetWebhook, removeWebhook, type Webhook } from './queries.ts'

/** Removes the webhook, once the person has confirmed it. */
export function Removal({ webhook: { id, url } }: { webhook: Webhook }) {
  const [isOpen, setOpen] = useState(false)
  const navigate = useNavigate()
  const removing = useAction(
    () => removeWebhook(id),
    async () => {
      announce('The webhook has been removed')
      await navigate({ to: '/webhooks', replace: true })
      forgetWebhook(id)
    },
  )
  return (
    <Section title="Removal">
      <p className="soft">To stop it for a while, disable it instead: then it keeps its place in the log.</p>
      <div className="row">
        <Button className="button" onPress={() => setOpen(true)}>
          Remove webhook
        </Button>
      </div>
      <ModalDialog
        title="Remove this webhook?"
        role="alertdialog"
        isOpen={isOpen}
        onOpenChange={setOpen}
        aria-describedby="removal"
      >
        <p id="removal" className="wrap">
          Nothing more is sent to {url}, and its secret and its deliveries are gone.
        </p>
        <Refused failure={removing.error} />
        <div className="row dialog-actions">
          <Button className="button" onPress={() => setOpen(false)}>
            Cancel
          </Button>
          <Button className="button button-danger" onPress={() => removing.act()}>
            Remove
          </Button>
        </div>
      </ModalDialog>
    </Section>
  )
}
