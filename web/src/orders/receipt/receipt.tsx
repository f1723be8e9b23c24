import './receipt.css'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Button } from 'react-aria-components/Button'
import { problemOf } from '../../api/problem.ts'
import { useMay } from '../../auth/session.ts'
import { FailureNote } from '../../ui/failure.tsx'
import { formatCount, formatExactInstant, formatTotal } from '../../ui/format.ts'
import { ArrowIcon } from '../../ui/icons.tsx'
import mark from '../../ui/mark.svg'
import { Name } from '../../ui/name.tsx'
import { Note } from '../../ui/note.tsx'
import { PageHead, PageTitle } from '../../ui/page-title.tsx'
import { shortNumber } from '../identity.ts'
import { useIsUnreadable, WithoutReading } from '../without-reading.tsx'
import { receiptQuery } from './queries.ts'
import { readStatement, type Statement } from './statement.ts'

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
          <PageHead title="Receipt" />
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
  if (problemOf(failure, 'order-not-found', 'order-not-approved')) {
    const isThere = problemOf(failure, 'order-not-approved') !== undefined
    return (
      <div className="empty">
        <PageTitle title={isThere ? 'There is no receipt' : 'Order not found'} />
        <p className="soft">
          {isThere ? 'Only an approved order has one.' : 'The link may be out of date or mistyped.'}
        </p>
        <Link to={isThere ? '/orders/$id' : '/orders'} params={{ id }} className="button">
          {isThere ? 'Go to the order' : 'Go to orders'}
        </Link>
      </div>
    )
  }
  return (
    <>
      <PageHead title="Receipt" />
      {problemOf(failure, 'receipt-not-ready') ? (
        <Note
          kind="waiting"
          role="status"
          title="The approval is being recorded"
          lines={['The receipt will be ready in a moment.']}
        />
      ) : (
        failure != null && <FailureNote failure={failure} onRetry={onRetry} />
      )}
      <span className="card skeleton" style={{ height: 420 }} />
    </>
  )
}

function Receipt({ jws }: { jws: string }) {
  const read = readStatement(jws)
  const { statement } = read
  const { id } = statement.order
  return (
    <>
      <header className="row row-between">
        <PageTitle title={`Receipt · ${shortNumber(id)}`}>Receipt</PageTitle>
        <div className="row">
          <Button className="button" onPress={() => print()}>
            Print
          </Button>
          <a
            className="button button-primary"
            href={`data:application/jwt,${jws}`}
            download={`receipt-${shortNumber(id)}.jwt`}
          >
            Save as a file
          </a>
        </div>
      </header>
      <article className="card sheet stack gap-5" aria-label="Receipt">
        <Document statement={statement} />
        <Signature {...read} jws={jws} />
      </article>
      <HowToCheck issuer={statement.iss} />
    </>
  )
}

/** What was approved, by whom, and its place in the log. */
function Document({ statement: { iss, order, approvals, event, checkpoint } }: { statement: Statement }) {
  return (
    <>
      <header className="row receipt-head">
        <img src={mark} alt="" width="36" height="36" />
        <div>
          <h2>This order is approved</h2>
          <p className="soft small">{iss}</p>
        </div>
      </header>
      <dl className="stack wrap receipt-facts">
        <Fact name="Customer">
          <Name of={order.customer} />
        </Fact>
        <Fact name="Total">
          <span className="large-total">{formatTotal(order.total)}</span>
        </Fact>
        <Fact name="Order number">
          <code>{order.id}</code>, version {formatCount(order.version)}
        </Fact>
        <Fact name="Created">
          {order.createdBy !== null && (
            <>
              by <Name of={order.createdBy} />,{' '}
            </>
          )}
          <Instant at={order.createdAtUtc} />
        </Fact>
        <Fact name={approvals.length === 1 ? 'Approved' : `${formatCount(approvals.length)} approvals`}>
          <ul>
            {approvals.map(({ by, atUtc }) => (
              <li key={`${by} ${atUtc}`}>
                by{' '}
                <strong>
                  <Name of={by} />
                </strong>
                , <Instant at={atUtc} />
              </li>
            ))}
          </ul>
        </Fact>
        <Fact name="Log entry">
          #{formatCount(event.sequence)}
          <code className="soft small receipt-hash">{event.hash}</code>
        </Fact>
        <Fact name="Checkpoint">
          Log signed up to entry #{formatCount(checkpoint.size)}
          <code className="soft small receipt-hash">{checkpoint.hash}</code>
        </Fact>
      </dl>
    </>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt className="soft">{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function Instant({ at }: { at: string }) {
  return <time dateTime={at}>{formatExactInstant(at)}</time>
}

type SignatureProps = ReturnType<typeof readStatement> & { jws: string }

function Signature({ statement: { iat }, keyId, algorithm, jws }: SignatureProps) {
  return (
    <section className="stack gap-2 wrap receipt-signature" aria-labelledby="receipt-signature">
      <h3 id="receipt-signature">Signed statement</h3>
      <p className="small soft">
        Signed <Instant at={new Date(iat * 1000).toISOString()} /> with the key <code>{keyId}</code> (
        {algorithm})
      </p>
      <p className="soft receipt-jws">
        <code>{jws}</code>
      </p>
    </section>
  )
}

function HowToCheck({ issuer }: { issuer: string }) {
  const keys = `${issuer}/.well-known/jwks.json`
  return (
    <section className="stack gap-3 wrap receipt-check" aria-labelledby="receipt-check">
      <h2 id="receipt-check">How to check it</h2>
      <p>
        The signature covers everything above, and only the service's key can make one. Give the signed
        statement to any JWT library with the public keys at <a href="/.well-known/jwks.json">{keys}</a>. Its
        type is <code>countersign-receipt+jwt</code>, and it never expires.
      </p>
      <p>
        The log entry and its hash record the approval. Anyone who keeps the checkpoint and later gets the log
        can prove that nothing up to that point was changed: <code>docs/auditing.md</code> shows how, in a
        dozen lines of code.
      </p>
    </section>
  )
}
