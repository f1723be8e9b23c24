import { Facts } from '../../ui/facts.tsx'
import { Name } from '../../ui/name.tsx'
import { pending } from '../states.ts'
import { Status } from '../status.tsx'
import type { TotalReading } from './total-input.ts'

interface OrderPreviewProps {
  customer: string
  total: TotalReading
  userName: string
}

/** A preview of the order, next to the form if there is room. */
export function OrderPreview({ customer, total, userName }: OrderPreviewProps) {
  return (
    <section className="card create-slip no-print" aria-label="Preview">
      <div className="row row-between">
        <span className="small soft">As it will appear</span>
        <Status status={pending} />
      </div>
      <p className="clamped create-slip-customer" dir="auto">
        {customer ? <Name of={customer} /> : <span className="soft create-blank">Customer</span>}
      </p>
      <p className="large-total">
        {total.ok ? total.meaning : <span className="soft create-blank">Total</span>}
      </p>
      <Facts className="ruled" of={{ 'Created by': <Name of={userName} /> }} />
    </section>
  )
}
