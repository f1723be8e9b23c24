import { useQuery } from '@tanstack/react-query'
import { Name } from '../../ui/name.tsx'
import { observable } from '../../ui/observable.ts'
import { readSetting, writeSetting } from '../../ui/settings.ts'
import type { Order } from '../order.ts'
import { orderQuery } from '../queries.ts'

const areShown = observable(readSetting('people') === 'on')
export const useShowsPeople = areShown.use

/** Shows who created and who changed the orders of the list: not at first, because each is asked for. */
export function PeopleSwitch() {
  const isOn = areShown.use()
  function turn(on: boolean) {
    areShown.set(on)
    writeSetting('people', on ? 'on' : 'off')
  }
  return (
    <label className="check people-switch">
      <input type="checkbox" checked={isOn} onChange={({ target }) => turn(target.checked)} />
      Show people
    </label>
  )
}

/** A list does not tell who: each order is read, which a look at the order then need not do. */
export function Person({ id, who }: { id: string; who: keyof Order & `${string}By` }) {
  const { data } = useQuery({ ...orderQuery(id), refetchOnWindowFocus: false })
  const name = data?.order[who]
  return (
    <div className="orders-person">
      {name == null ? (
        '\u00a0'
      ) : (
        <>
          by <Name of={name} />
        </>
      )}
    </div>
  )
}
