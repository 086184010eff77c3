// @flow
export type Props = {| +name: string, size?: ?number |};
export default class Panel extends React.Component<Props> {
  state: State = { open: false };
  render(): Node { return <div>{(this.props.name: string)}</div>; }
}
export function area(w: number, h: ?number): number { return w * (h || 1); }
