/** Line icons on a grid of 20, in the colour of the text. Decoration, so hidden from screen readers. */
function Icon({ path }: { path: string }) {
  return (
    <svg className="icon" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
      <path d={path} />
    </svg>
  )
}

const circle = 'M3.5 10a6.5 6.5 0 1 0 13 0 6.5 6.5 0 1 0-13 0'

export const OverviewIcon = () => <Icon path="M3 16.5h14M5.5 13v-3M10 13V5M14.5 13V8" />
export const OrdersIcon = () => <Icon path="M4 5.5h12M4 10h12M4 14.5h7" />
export const SettingsIcon = () => (
  <Icon path="M3 6h7M14 6h3M10 6a2 2 0 1 0 4 0 2 2 0 1 0-4 0M3 14h3M10 14h7M6 14a2 2 0 1 0 4 0 2 2 0 1 0-4 0" />
)
export const ReloadIcon = () => <Icon path="M16 10a6 6 0 1 1-1.8-4.3L16 7.5M16 3.5v4h-4" />
export const PlusIcon = () => <Icon path="M10 4.5v11M4.5 10h11" />
export const SearchIcon = () => <Icon path="M4 9a5 5 0 1 0 10 0 5 5 0 1 0-10 0M13 13l3.5 3.5" />
export const CheckIcon = () => <Icon path="m4.5 10.5 3.5 3.5 7.5-8" />
export const CloseIcon = () => <Icon path="m5.5 5.5 9 9M14.5 5.5l-9 9" />
export const ClockIcon = () => <Icon path={`${circle}M10 6.5V10l2.5 1.5`} />
export const WarningIcon = () => <Icon path="M10 3.5 2.8 16h14.4zM10 8.5V12M10 14.2v.1" />
export const SignOutIcon = () => <Icon path="M8 4H4.5v12H8M8.5 10H17m-3-3 3 3-3 3" />
export const DownloadIcon = () => <Icon path="M10 3.5v9m-4-3.5 4 4 4-4M4 16.5h12" />
export const FilterIcon = () => <Icon path="M3.5 5.5h13M6 10h8M8.5 14.5h3" />
export const ViewsIcon = () => <Icon path="M5 3.5h10v13l-5-3.5-5 3.5z" />
export const EditIcon = () => <Icon path="M4 16l.8-3.6L13 4.2l2.8 2.8-8.2 8.2z" />
export const CopyIcon = () => <Icon path="M7.5 7.5H16V16H7.5zM12.5 7.5V4H4v8.5h3.5" />
export const ArrowIcon = ({ to }: { to: keyof typeof arrows }) => <Icon path={arrows[to]} />

const arrows = {
  up: 'M10 15.5v-11m-4 4 4-4 4 4',
  down: 'M10 4.5v11m-4-4 4 4 4-4',
  left: 'm11.5 5-5 5 5 5',
  right: 'm8.5 5 5 5-5 5',
  first: 'm14 5-5 5 5 5M6 5v10',
  last: 'm6 5 5 5-5 5M14 5v10',
}
