#include "substrate_of.inl"
namespace treeform::binary {
template class SubstrateOf<std::uint32_t, std::int32_t>;
}
