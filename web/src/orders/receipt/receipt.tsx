import './receipt.css'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { Button } from 'react-aria-components/Button'
import { type JudgedReceipt, verdictOf } from '../../../../proof/verdict.ts'
import { saveFile } from '../../api/files.ts'
import { problemOf } from '../../api/problem.ts'
import { useMay } from '../../auth/session.ts'
import { FailureNote } from '../../ui/failure.tsx'
import { ArrowIcon, CheckIcon } from '../../ui/icons.tsx'
import { Missing, outdatedLink, toOrders } from '../../ui/missing.tsx'
import { Note } from '../../ui/note.tsx'
import { PageHead, PageTitle } from '../../ui/page-title.tsx'
import { numberOf } from '../identity.ts'
import { useIsUnreadable, WithoutReading } from '../without-reading.tsx'
import { Certificate } from './certificate.tsx'
import { fileOf } from './file.ts'
import { judgementQuery, receiptQuery } from './queries.ts'

/** The signed statement about an approved order, as a document to print, keep and check. */
export function ReceiptView() {
  const { id } = useParams({ from: '/signed-in/orders/$id/receipt' })
  const query = useQuery({ ...receiptQuery(id), enabled: useMay('Orders.Read') })
  const failure = query.failureReason ?? query.error
  const isUnreadable = useIsUnreadable(failure)
  return (
    <div className="stack receipt-view" aria-busy={query.isPending && !isUnreadable}>
      <nav aria-label="Breadcrumb">
        <Link className="back" to="/orders/$id" params={{ id }}>
          <ArrowIcon to="left" />
          Order
        </Link>
      </nav>
      {isUnreadable ? (
        <>
          <PageHead title="Approval certificate" />
          <WithoutReading />
        </>
      ) : query.data ? (
        <Receipt jws={query.data.receipt} />
      ) : (
        <NoReceipt id={id} failure={failure} onRetry={() => void query.refetch()} />
      )}
    </div>
  )
}

function NoReceipt({ id, failure, onRetry }: { id: string; failure: unknown; onRetry(): void }) {
  if (problemOf(failure, 'order-not-found')) {
    return <Missing title="Order not found" words={outdatedLink} link={toOrders} />
  }
  if (problemOf(failure, 'order-not-approved')) {
    return (
      <Missing
        title="There is no approval certificate"
        words="Only approved orders have one."
        link={{ to: '/orders/$id', params: { id }, children: 'Go to the order' }}
      />
    )
  }
  return (
    <>
      <PageHead title="Approval certificate" />
      {problemOf(failure, 'receipt-not-ready') ? (
        <Note
          kind="waiting"
          role="status"
          title="Being recorded"
          lines={['The certificate will be ready in a moment.']}
        />
      ) : (
        failure != null && <FailureNote failure={failure} onRetry={onRetry} />
      )}
      <Waiting />
    </>
  )
}

function Receipt({ jws }: { jws: string }) {
  const { data: judged, error, refetch } = useQuery(judgementQuery(jws))
  if (judged === undefined) {
    return error ? <FailureNote failure={error} onRetry={() => void refetch()} /> : <Waiting />
  }
  const { order, receipt } = judged
  const name = `approval-certificate-${order?.number}.html`
  return (
    <>
      <header className="row row-between">
        <PageTitle title={`Approval certificate · ${numberOf(order ?? {})}`}>Approval certificate</PageTitle>
        {order && receipt && (
          <div className="row">
            <Button className="button" onPress={() => print()}>
              Print
            </Button>
            <Button
              className="button button-primary"
              onPress={() => saveFile(new Blob([fileOf(order, receipt, jws)], { type: 'text/html' }), name)}
            >
              Save as a file
            </Button>
          </div>
        )}
      </header>
      <Verdict judged={judged} jws={jws} />
      {order && receipt && <Certificate order={order} receipt={receipt} />}
    </>
  )
}

/** This page checks the certificate as anyone else can. The part after `#` is never sent to a server. */
function Verdict({ judged, jws }: { judged: JudgedReceipt; jws: string }) {
  const verdict = verdictOf([judged])
  const checked = <a href={`/verify#receipt=${jws}`}>Check it yourself</a>
  return (
    <div className="no-print receipt-check" role="status">
      {verdict === 'valid' ? (
        <p className="row">
          <CheckIcon /> Valid, by the key of this service’s log. {checked}
        </p>
      ) : verdict === 'not valid' ? (
        <Note
          kind="bad"
          title="This certificate is not valid"
          lines={judged.faults.map((fault) => `Do not rely on it – ${fault}.`)}
        />
      ) : (
        <p className="row">
          Not checked yet – {judged.missing.join('; ')}. {checked}
        </p>
      )}
    </div>
  )
}

const Waiting = () => <span className="card skeleton" style={{ height: 420 }} />
