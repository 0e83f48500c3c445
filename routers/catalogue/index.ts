import { listFamilies } from './list-families.ts';
import { listFormats } from './list-formats.ts';
import { listPriceLists } from './list-price-lists.ts';
import { listProducts } from './list-products.ts';

export const catalogue = {
  products: { list: listProducts, listFormats },
  productFamilies: { list: listFamilies },
  priceLists: { list: listPriceLists },
};
