import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMay } from '../../auth/session.ts'
import { numberOf } from '../identity.ts'
import { approvalsQuery } from '../queries.ts'

export function Replacing({ id }: { id: string }) {
  const { data } = useQuery({ ...approvalsQuery(id), enabled: useMay('Orders.Read') })
  return (
    <p className="soft">
      Replaces{' '}
      <Link to="/orders/$id" params={{ id }}>
        order {numberOf(data ?? {})}
      </Link>
      .
    </p>
  )
}
