import './receipt.css'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { Button } from 'react-aria-components/Button'
import { readReceipt } from '../../../../proof/receipt.ts'
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
import { checkQuery, receiptQuery } from './queries.ts'

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
      <span className="card skeleton" style={{ height: 420 }} />
    </>
  )
}

function Receipt({ jws }: { jws: string }) {
  const { statement } = readReceipt(jws)
  return (
    <>
      <header className="row row-between">
        <PageTitle title={`Approval certificate · ${numberOf(statement.order)}`}>
          Approval certificate
        </PageTitle>
        <div className="row">
          <Button className="button" onPress={() => print()}>
            Print
          </Button>
          <a
            className="button button-primary"
            href={`data:application/jwt,${jws}`}
            download={`approval-certificate-${statement.order.number}.jwt`}
          >
            Save as a file
          </a>
        </div>
      </header>
      <Check jws={jws} />
      <Certificate statement={statement} jws={jws} />
    </>
  )
}

/** This page checks the certificate as anyone else can. The part after `#` is never sent to a server. */
function Check({ jws }: { jws: string }) {
  const { data: fault } = useQuery(checkQuery(jws))
  return (
    <div className="no-print receipt-check" role="status">
      {fault === null && (
        <p className="row">
          <CheckIcon /> The signature is valid. <a href={`/verify#receipt=${jws}`}>Check it yourself</a>
        </p>
      )}
      {fault != null && (
        <Note kind="bad" title="This certificate is not valid" lines={[`Do not rely on it – ${fault}.`]} />
      )}
    </div>
  )
}
