type Props = {
  title: string;
};

/** A card with a title. */
export function Card({ title }: Props): JSX.Element {
  // Counts clicks.
  const onClick = () => count(title);
  return <div onClick={onClick}>{title}</div>;
}

/** A page of cards. */
export const Page: React.FC<Props> = (props) => (
  <Card {...props} />
);

class Panel extends React.Component<Props> {
  /** Draw it. */
  render() {
    return <Card title="x" />;
  }
}
