// Takes back what an experiment has kept.

export default async function experimentBack(tools, { address, place }) {
  const { open } = tools;
  const page = await open();
  await page.goto(address);
  await page.goto(`${new URL(address).origin}/${place}`);
  await page.getByRole("button", { name: "Take back" }).click();
  await page.getByText("Taken back").waitFor();
  return {};
}
