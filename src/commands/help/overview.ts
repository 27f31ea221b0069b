/** What `petstore` alone says: the way in, not the whole. */
export const overview = `petstore works with a pet store service: pets, categories, orders and inventory.

Try it without a service:
  petstore --offline pets list
  petstore --offline inventory list --below 5

Work with yours:
  petstore profile create shop --base-url https://petstore.example.com
  petstore profile use shop
  petstore pets list --status available
  petstore inventory apply stock.csv

petstore --help lists every command; petstore <command> --help shows one.
`;
