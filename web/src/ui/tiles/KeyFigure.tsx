// A large number on a tile, with its name and a detail.

export function KeyFigure({ name, value, detail }: { name: string; value: string | null; detail?: string }) {
  return (
    <div class="lead">
      <dt>{name}</dt>
      <dd data-testid={name.toLowerCase().replace(" ", "-")}>{value ?? <span class="zero">–</span>}</dd>
      <dd class="detail">{detail}</dd>
    </div>
  );
}
