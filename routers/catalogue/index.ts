import { listPriceLists } from './list-price-lists.ts';
import { listProducts } from './list-products.ts';

export const catalogue = { products: { list: listProducts }, priceLists: { list: listPriceLists } };
